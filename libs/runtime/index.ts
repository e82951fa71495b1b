/** The runtime: the parts that every role needs to be run, watched and stopped. */
export { acquireLightly } from "./acquire-lightly.ts"
export { afterDeath, type Child, type Deaths, freePort, noDeaths, startChild } from "./child-process.ts"
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
export {
  Configuration,
  type ConfigurationFault,
  configurationInput,
  ConfigurationOrigin,
  type ConfigurationSource,
  FileUnreadable,
  InvalidConfiguration,
  overlay,
  readTextFile
} from "./Configuration.ts"
export {
  type ContainedLimits,
  type ContainedRun,
  ProgramMissing,
  runContained,
  runContainedFile
} from "./contained-process.ts"
export { Drain, drainMetrics, drainMsMax, type DrainReport } from "./Drain.ts"
export { Health, type HealthLoop, type HealthReport } from "./Health.ts"
export { NoAnswer, textAt } from "./http-text.ts"
export { keyedQueue } from "./keyed-queue.ts"
export { chosenFormat, lineLogger, type LogFormat, logFormatVariable } from "./logger.ts"
export {
  buildInfo,
  type CounterDefinition,
  type CounterHandle,
  type CounterOf,
  defineCounter,
  defineGauge,
  defineHistogram,
  type GaugeDefinition,
  type GaugeHandle,
  type HistogramDefinition,
  type HistogramHandle,
  type MetricDefinition,
  Metrics,
  metricsDocument,
  MetricsRegistry,
  timed
} from "./Metrics.ts"
export { figuresAt, joinFigures, labelled, MetricsSources } from "./MetricsSources.ts"
export { CannotListen, OpsServer } from "./OpsServer.ts"
export { loopLateness, type OwnStall, ownStall } from "./own-stall.ts"
export { Addresses, Environment, Role } from "./process.ts"
export { makeRedact, type Redact, redactBody, Redactor, redactorLayer } from "./Redactor.ts"
export { configurationExitCode, logFormatOfChildren, minimumLevel, runProgram } from "./run-program.ts"
export { makeSecrets, secretFromEnv, Secrets, unsetSecret } from "./Secrets.ts"
export { supervise } from "./supervise.ts"
export {
  currentTraceparent,
  formatTraceparent,
  OtlpRefused,
  OtlpTransport,
  parseTraceparent,
  Tracing,
  tracingMetrics
} from "./Tracing.ts"
