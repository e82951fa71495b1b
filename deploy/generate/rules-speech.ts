/** Alert rules of speech: what listeners hear. */
import { risen } from "./risen.ts"
import type { RuleGroup } from "./rules.ts"

export const speechRules: RuleGroup = {
  name: "starling-speech",
  recordings: [
    {
      record: "speech_first_byte_seconds:p99_rate5m",
      expr: "histogram_quantile(0.99, sum by (le) (rate(speech_first_byte_seconds_bucket[5m])))"
    },
    {
      record: "speech_streams_failed:ratio_rate5m",
      expr: 'sum(rate(speech_streams_total{outcome="failed"}[5m])) / sum(rate(speech_streams_total[5m]))'
    },
    {
      record: "speech_sessions_busy:ratio_rate5m",
      expr: 'sum(rate(speech_sessions_total{outcome="busy"}[5m])) / sum(rate(speech_sessions_total[5m]))'
    },
    {
      record: "speech_refused:ratio_rate5m",
      // When all are refused, no answer ends.
      expr: "sum(rate(speech_refusals_total[5m])) / (sum(rate(speech_refusals_total[5m])) + (sum(rate(speech_streams_total[5m])) or vector(0)))"
    }
  ],
  alerts: [
    {
      name: "SpeechStreamsFailing",
      expr: "speech_streams_failed:ratio_rate5m > 0.01",
      after: "5m",
      severity: "critical",
      summary: "{{ $value | humanizePercentage }} of the answers break off or never start."
    },
    {
      name: "SpeechFirstByteSlow",
      expr: "speech_first_byte_seconds:p99_rate5m > 0.5",
      after: "10m",
      severity: "warning",
      summary: "One listener in a hundred waits more than {{ $value | humanizeDuration }} for the first sound."
    },
    {
      name: "SpeechUnderruns",
      expr: "sum(rate(speech_underruns_total[5m])) / clamp_min(sum(rate(speech_streams_total[5m])), 0.01) > 0.02",
      after: "10m",
      severity: "warning",
      summary: "{{ $value | humanizePercentage }} of the listeners hear a gap."
    },
    {
      name: "SpeechSequencersBusy",
      expr: "speech_sessions_busy:ratio_rate5m > 0.05",
      after: "5m",
      severity: "warning",
      summary: "Sequencers refuse {{ $value | humanizePercentage }} of the sessions because they are full."
    },
    {
      name: "SpeechRefusals",
      expr: "speech_refused:ratio_rate5m > 0.05",
      after: "10m",
      severity: "warning",
      summary:
        "For ten minutes {{ $value | humanizePercentage }} of the callers were refused: there is more to speak than capacity allows."
    },
    {
      name: "SpeechTakeovers",
      expr: "sum(increase(speech_takeovers_total[15m])) > 20",
      after: "0m",
      severity: "warning",
      summary: "{{ $value | humanize }} sessions lost their sequencer within 15 minutes and were taken over."
    },
    {
      name: "SpeechEngineThreadsDying",
      expr: "sum by (engine) (increase(speech_engine_threads_replaced_total[15m])) > 5",
      after: "0m",
      severity: "warning",
      summary: "{{ $value | humanize }} threads of {{ $labels.engine }} crashed or hung within 15 minutes."
    },
    {
      name: "SpeechEncodersFailing",
      expr: "sum by (encoder, reason) (increase(audio_encoder_failures_total[15m])) > 5",
      after: "0m",
      severity: "warning",
      summary:
        "{{ $value | humanize }} answers got no {{ $labels.encoder }} encoder within 15 minutes: {{ $labels.reason }}."
    },
    {
      name: "SpeechConsentsUnverifiable",
      expr: `sum${risen('speech_consent_checks_total{outcome="unavailable"}', "15m")} > 0`,
      after: "0m",
      severity: "warning",
      summary:
        "{{ $value | humanize }} consents could not be verified within 15 minutes: the recogniser or the speaker check does not run."
    }
  ]
}
