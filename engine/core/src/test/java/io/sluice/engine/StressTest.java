package io.sluice.engine;

import io.sluice.stress.StressSuite;
import org.junit.jupiter.api.Tag;

@Tag("filler")
class StressTest extends StressSuite {}
