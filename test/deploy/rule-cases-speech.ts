/** When speech's alerts fire, and when they stay silent. */
import { bornAt, ruleCase, rising, type RuleCase } from "./rule-case.ts"

export const speechCases: ReadonlyArray<RuleCase> = [
  ruleCase(
    "SpeechStreamsFailing",
    "20m",
    { ...rising('speech_streams_total{outcome="failed"}', 5), ...rising('speech_streams_total{outcome="spoken"}', 95) },
    {},
    {
      ...rising('speech_streams_total{outcome="cancelled"}', 5),
      ...rising('speech_streams_total{outcome="failed"}', 0)
    }
  ),
  ruleCase(
    "SpeechFirstByteSlow",
    "30m",
    {
      ...rising('speech_first_byte_seconds_bucket{format="mp3",model="m",le="0.5"}', 50),
      ...rising('speech_first_byte_seconds_bucket{format="mp3",model="m",le="1"}', 100),
      ...rising('speech_first_byte_seconds_bucket{format="mp3",model="m",le="+Inf"}', 100)
    },
    {},
    {
      ...rising('speech_first_byte_seconds_bucket{format="mp3",model="m",le="0.5"}', 100),
      ...rising('speech_first_byte_seconds_bucket{format="mp3",model="m",le="+Inf"}', 100)
    }
  ),
  ruleCase(
    "SpeechUnderruns",
    "30m",
    { ...rising("speech_underruns_total", 10), ...rising('speech_streams_total{outcome="spoken"}', 100) },
    {},
    { ...rising("speech_underruns_total", 1), ...rising('speech_streams_total{outcome="spoken"}', 100) }
  ),
  ruleCase(
    "SpeechSequencersBusy",
    "20m",
    {
      ...rising('speech_sessions_total{outcome="busy"}', 10),
      ...rising('speech_sessions_total{outcome="spoken"}', 90)
    },
    {},
    { ...rising('speech_sessions_total{outcome="busy"}', 1), ...rising('speech_sessions_total{outcome="spoken"}', 90) }
  ),
  ruleCase(
    "SpeechRefusals",
    "30m",
    {
      ...rising('speech_refusals_total{reason="listeners"}', 10),
      ...rising('speech_streams_total{outcome="spoken"}', 90)
    },
    {},
    {
      ...rising('speech_refusals_total{reason="beginnings"}', 2),
      ...rising('speech_streams_total{outcome="spoken"}', 98)
    }
  ),
  ruleCase("SpeechTakeovers", "20m", rising("speech_takeovers_total", 3), {}, { speech_takeovers_total: "0x10 5x20" }),
  ruleCase(
    "SpeechEngineThreadsDying",
    "20m",
    rising('speech_engine_threads_replaced_total{engine="espeak"}', 1),
    { engine: "espeak" },
    { 'speech_engine_threads_replaced_total{engine="espeak"}': "0x10 1x20" }
  ),
  ruleCase(
    "SpeechEncodersFailing",
    "20m",
    rising('audio_encoder_failures_total{encoder="mp3",reason="missing"}', 1),
    { encoder: "mp3", reason: "missing" },
    { 'audio_encoder_failures_total{encoder="mp3",reason="failed"}': "0x10 1x20" }
  ),
  ruleCase(
    "SpeechConsentsUnverifiable",
    "30m",
    { 'speech_consent_checks_total{outcome="unavailable"}': bornAt(26) },
    {},
    rising('speech_consent_checks_total{outcome="speaker_mismatch"}', 2)
  ),
  ruleCase(
    "SpeechSilent",
    "20m",
    { 'check_failing{check="speech",subject=""}': "1x60" },
    {},
    { 'check_failing{check="speech",subject=""}': "0x60" }
  ),
  ruleCase(
    "SpeechEngineSilent",
    "20m",
    { 'check_failing{check="speech",subject="flite"}': "1x60" },
    { subject: "flite" },
    { 'check_failing{check="speech",subject="flite"}': "0x60" }
  )
]
