package io.sluice.reactor;

import io.sluice.stress.StressSuite;

class StressTest extends StressSuite {}
