/** The runtime: what every role needs to be run, watched and stopped. */
export { acquireLightly } from "./acquire-lightly.ts"
export { Addresses } from "./Addresses.ts"
export { type Child, type ChildOptions, startChild } from "./child-process.ts"
export { Configuration, configurationInput, type ConfigurationSource, overlay } from "./Configuration.ts"
export { Drain, drainMetrics, drainMsMax, type DrainReport } from "./Drain.ts"
export { Environment } from "./Environment.ts"
export { freePort } from "./free-port.ts"
export { Health, type HealthLoop, type HealthReport, type LoopOptions } from "./Health.ts"
export { type ConfigurationFault, InvalidConfiguration } from "./InvalidConfiguration.ts"
export { chosenFormat, lineLogger, type LogFormat, logFormatVariable } from "./logger.ts"
export {
  type CounterDefinition,
  defineCounter,
  defineGauge,
  defineHistogram,
  type GaugeDefinition,
  type HistogramDefinition,
  type MetricDefinition
} from "./metrics-definition.ts"
export { metricsDocument, type MetricsSection } from "./metrics-document.ts"
export { type CounterHandle, type GaugeHandle, type HistogramHandle, Metrics, MetricsRegistry } from "./Metrics.ts"
export { loopLateness } from "./loop-lateness.ts"
export { type OwnStall, ownStall } from "./own-stall.ts"
export { CannotListen, OpsServer, type OpsServerOptions } from "./OpsServer.ts"
export { FileUnreadable, readTextFile } from "./read-text-file.ts"
export { makeRedact, type Redact } from "./redaction/redact.ts"
export { redactBody } from "./redaction/redact-body.ts"
export { Redactor, redactorLayer } from "./redaction/Redactor.ts"
export { Role } from "./Role.ts"
export { configurationExitCode, logFormatOfChildren, minimumLevel, runProgram } from "./run-program.ts"
export { secretFromEnv, unsetSecret } from "./secret-from-env.ts"
export { type KnownSecrets, makeSecrets, Secrets } from "./Secrets.ts"
export { supervise } from "./supervise.ts"
export { timed } from "./timed.ts"
export { currentTraceparent, formatTraceparent, parseTraceparent } from "./traceparent.ts"
export { OtlpRefused, OtlpTransport, Tracing, tracingMetrics } from "./Tracing.ts"
