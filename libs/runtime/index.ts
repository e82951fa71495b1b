/** The runtime: what every role needs to run, to be monitored and to stop. */
export { acquireLightly } from "./acquire-lightly.ts"
export { afterDeath, type Child, type Deaths, noDeaths, startChild } from "./child-process.ts"
export { freePort } from "./free-port.ts"
export {
  type ContainedLimits,
  type ContainedRun,
  ProgramMissing,
  runContained,
  runContainedFile
} from "./contained-process.ts"
export {
  afterAttempt,
  afterFailure,
  afterNothing,
  type Breaker,
  type BreakerLimits,
  type BreakerPhase,
  breakerPhase,
  breakerWaitMs,
  closedBreaker
} from "./circuit-breaker.ts"
export { type ConfigurationFault, InvalidConfiguration } from "./InvalidConfiguration.ts"
export { Platform } from "./Platform.ts"
export { readTextFile } from "./text-file.ts"
export { certificateMetrics, checkCertificate, endOfChain } from "./certificates.ts"
export { check, type Check, checkMetrics, type Worked } from "./Checks.ts"
export { Drain, drainMetrics, drainMsMax, type DrainReport } from "./Drain.ts"
export { Health, type HealthLoop, type HealthReport } from "./Health.ts"
export { supervise } from "./supervise.ts"
export { CannotListen, OpsServer, readinessMetrics } from "./OpsServer.ts"
export { figuresAt, joinFigures, labelled, MetricsSources, NoAnswer, textAt } from "./metrics-sources.ts"
export { faultOfHead } from "./request-head.ts"
export { keyedQueue } from "./keyed-queue.ts"
export { chosenFormat, lineLogger, type LogFormat, logFormatVariable } from "./logger.ts"
export { makeSecrets, secretFromEnv, Secrets, variableFault } from "./secrets.ts"
export {
  buildInfo,
  type CounterOf,
  defineCounter,
  defineGauge,
  defineHistogram,
  type GaugeHandle,
  type HistogramHandle,
  Metrics,
  metricsDocument,
  MetricsRegistry,
  timed
} from "./Metrics.ts"
export { loopLateness, type OwnStall, ownStall } from "./own-stall.ts"
export { Addresses, Environment, Role } from "./host.ts"
export { makeRedact, type Redact, redactBody, Redactor, redactorLayer } from "./Redactor.ts"
export { logFormatOfChildren, minimumLevel, runProgram } from "./run-program.ts"
export {
  currentTraceparent,
  formatTraceparent,
  inSpan,
  OtlpRefused,
  OtlpTransport,
  parseTraceparent,
  Tracing,
  tracingMetrics
} from "./Tracing.ts"
