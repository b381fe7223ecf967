/** Builds the site of the project: its pages and the Javadoc of its public packages, with a search over both. */
@NullMarked
package io.sluice.site;

import org.jspecify.annotations.NullMarked;
