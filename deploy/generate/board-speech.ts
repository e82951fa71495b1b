/** The board of speech: what listeners notice, the time of each stage, and the faults. */
import type { Board } from "./dashboards.ts"
import { panel, quantiles, rate, rise, stat } from "./panels.ts"

export const speechBoard: Board = {
  uid: "speech",
  title: "speech",
  variables: [
    {
      label: "model",
      of: "speech_billable_characters_total",
      narrows: ["speech_first_byte_seconds_bucket"]
    }
  ],
  rows: [
    {
      title: "Now",
      panels: [
        stat("Streams", "short", "sum(speech_streams_active)", "Answers being spoken now."),
        stat("First byte, p99", "s", quantiles("speech_first_byte_seconds"), "From the request.", 0.5),
        stat(
          "Failed",
          "percentunit",
          'sum(rate(speech_streams_total{outcome="failed"}[$__rate_interval])) / sum(rate(speech_streams_total[$__rate_interval]))',
          "Of the answers.",
          0.01
        ),
        stat("Waiting", "short", "sum(speech_callers_waiting)", "Callers whose turn has not come."),
        stat("Refused", "short", rise("speech_refusals_total"), "For want of capacity, within the time shown.", 1),
        stat("Characters", "short", rise("speech_billable_characters_total"), "Spoken, as they are billed.")
      ]
    },
    {
      title: "What listeners notice",
      panels: [
        panel("Streams", "short", "sum(speech_streams_active)", "streams", "Answers being spoken now."),
        panel(
          "First byte, p99",
          "s",
          quantiles("speech_first_byte_seconds", "format"),
          "{{format}}",
          "From the request to the first byte of audio."
        ),
        panel(
          "First sound, p99",
          "s",
          quantiles("speech_first_sound_seconds", "engine"),
          "{{engine}}",
          "From the request to the first sound of an answer that is played as it comes."
        ),
        panel(
          "Answers ended",
          "reqps",
          rate("speech_streams_total", "outcome"),
          "{{outcome}}",
          "Cancelled is the caller's choice."
        ),
        panel(
          "Gaps",
          "reqps",
          "sum(rate(speech_underruns_total[$__rate_interval]))",
          "gaps",
          "Times a player that plays as it receives falls silent."
        ),
        panel("Pace, p99", "none", quantiles("speech_real_time_factor"), "p99", "Below 1 is faster than it is heard."),
        panel(
          "Audio served",
          "none",
          rate("speech_spoken_seconds_total", "format"),
          "{{format}}",
          "Seconds of audio a second."
        )
      ]
    },
    {
      title: "Where the time goes",
      panels: [
        panel("Stages, p99", "s", quantiles("speech_stage_seconds", "stage"), "{{stage}}", "admit, first_pcm, encode."),
        panel("Chunks, p99", "s", quantiles("speech_chunk_seconds"), "p99", "From asking for a chunk to having it."),
        panel(
          "Engines, p99",
          "s",
          quantiles("speech_engine_synthesis_seconds", "engine"),
          "{{engine}}",
          "A thread's time for one job."
        ),
        panel(
          "Engine jobs",
          "reqps",
          rate("speech_engine_jobs_total", "engine, outcome"),
          "{{engine}} {{outcome}}",
          "busy: more threads or more pods are wanted."
        ),
        panel(
          "Encoders at work",
          "short",
          "sum by (encoder) (audio_encoders_running)",
          "{{encoder}}",
          "One for each answer in a lossy format."
        ),
        panel(
          "Encoders started too late",
          "reqps",
          rate("audio_encoder_misses_total", "encoder"),
          "{{encoder}}",
          "The shelf of started ones was empty."
        )
      ]
    },
    {
      title: "What goes wrong",
      panels: [
        panel("Sessions", "reqps", rate("speech_sessions_total", "outcome"), "{{outcome}}", "At the sequencers."),
        panel(
          "Refused for want of capacity",
          "reqps",
          rate("speech_refusals_total", "reason"),
          "{{reason}}",
          "beginnings: too many at once. listeners: who listens already has little left."
        ),
        panel(
          "Time of a beginning",
          "s",
          "max by (engine) (speech_begin_seconds)",
          "{{engine}}",
          "Until a listener has three seconds in store: the measured capacity that admission follows."
        ),
        panel(
          "Takeovers",
          "reqps",
          "sum(rate(speech_takeovers_total[$__rate_interval]))",
          "takeovers",
          "A sequencer fell silent; another went on."
        ),
        panel(
          "Chunks asked again",
          "reqps",
          rate("speech_chunks_asked_total", "reason"),
          "{{reason}}",
          "Anything but first is a synthesizer that failed."
        ),
        panel(
          "Threads replaced",
          "reqps",
          rate("speech_engine_threads_replaced_total", "engine"),
          "{{engine}}",
          "Crashed or hung."
        ),
        panel(
          "Answers without an encoder",
          "reqps",
          rate("audio_encoder_failures_total", "encoder, reason"),
          "{{encoder}} {{reason}}",
          "Missing, failed, overloaded or too slow to start."
        ),
        panel("Books", "short", "sum(speech_jobs_running)", "spoken now", "Jobs in the background of live speech."),
        panel("Books ended", "reqps", rate("speech_jobs_total", "outcome"), "{{outcome}}", "By outcome."),
        panel("Consents", "reqps", rate("speech_consent_checks_total", "outcome"), "{{outcome}}", "Of cloned voices."),
        panel("Voices made", "reqps", rate("speech_voice_creates_total", "outcome"), "{{outcome}}", "By outcome.")
      ]
    }
  ]
}
