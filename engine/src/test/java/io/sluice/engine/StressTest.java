package io.sluice.engine;

import io.sluice.stress.StressSuite;

class StressTest extends StressSuite {}
