package io.sluice.vertx;

import io.sluice.stress.StressSuite;

class StressTest extends StressSuite {}
