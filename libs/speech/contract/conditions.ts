/** What can be wrong with speech. */
import type { ConditionGroup } from "#base/condition"

export const speechConditions: ConditionGroup = {
  name: "starling-speech",
  title: "Speech",
  conditions: [
    {
      name: "SpeechStreamsFailing",
      severity: "critical",
      title: "{value:percent} of the answers break off or never start.",
      hurts: "Listeners hear nothing, or speech that breaks off.",
      seen: {
        kind: "share",
        part: { metric: "speech_streams_total", where: { outcome: "failed" } },
        whole: [{ metric: "speech_streams_total" }],
        by: [],
        above: 0.01
      },
      after: "5m",
      causedBy: [
        "SpeechSilent",
        "SpeechEngineSilent",
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingPodDown",
        "SpeechEncodersFailing",
        "SpeechEngineThreadsDying"
      ],
      commands: ['./starling say "Hello there." -o hello.mp3', "./starling doctor"],
      runbook: {
        means: "Answers break off or never start, through a fault of the fleet.",
        lookAt:
          "`./starling say \"Hello there.\" -o hello.mp3`: how it fails. `./starling doctor`: which process is not ready. `speech_takeovers_total`, the sequencers' and synthesizers' logs, the encoders' failures.",
        act: "Another condition names the part that fails. If it began with a release, roll back."
      }
    },
    {
      name: "SpeechSilent",
      severity: "critical",
      title: "SPEECH returns no sound.",
      hurts: "New texts are not spoken.",
      after: "1m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingPodDown", "SpeechEngineSilent"],
      commands: ["./starling doctor", './starling say "Hello there." -o hello.mp3'],
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "speech", subject: "" } },
        by: [],
        is: ["==", 1]
      },
      runbook: {
        means:
          "A sequencer requests a word every seven seconds, and gets no sound: no synthesizer takes the request, or the stream SPEECH is gone. Cached texts still play.",
        lookAt: "`./starling doctor`: whether a synthesizer answers. `/readyz` of the sequencers, `speech`.",
        act: "Start a synthesizer. If SPEECH is gone, `up` and the operator recreate it; until then see [a lost stream](operations.md#a-lost-stream)."
      }
    },
    {
      name: "SpeechEngineSilent",
      severity: "critical",
      title: "The engine {subject} does not speak.",
      hurts: "Voices of {subject} are refused or fail. Those of other engines work.",
      after: "1m",
      causedBy: ["StarlingPodDown"],
      commands: ["./starling say 'Hello there.' -o hello.mp3"],
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "speech", subject: { not: "" } } },
        by: ["subject"],
        is: ["==", 1]
      },
      runbook: {
        means: "A synthesizer has an engine speak a word every ten seconds, and it returned no sound.",
        lookAt: "`/readyz` of the synthesizers, `speech <engine>`: the engine's own message. Their log.",
        act: "Fix what the engine names: a missing file, a licence, memory. Restart the synthesizer if it hangs."
      }
    },
    {
      name: "SpeechFirstByteSlow",
      severity: "warning",
      title: "One listener in a hundred waits more than {value:duration} for the first sound.",
      hurts: "Listeners wait for the first sound.",
      seen: { kind: "p99", histogram: "speech_first_byte_seconds", by: [], within: "5m", above: 0.5 },
      after: "10m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingEventLoopLate",
        "StarlingPodDown",
        "SpeechRefusals",
        "SpeechSilent",
        "SpeechEncodersFailing"
      ],
      commands: ["./starling top"],
      runbook: {
        means: "The first sound comes late.",
        lookAt:
          "`./starling top`: the latencies. The console's `GET /speech`: which process it is. `speech_stage_seconds`: `wait` is a crowd, `admit` the sequencers, `first_pcm` the engines, `encode` ffmpeg.",
        act: "Add pods of that role."
      }
    },
    {
      name: "SpeechUnderruns",
      severity: "warning",
      title: "{value:percent} of the listeners hear a gap.",
      hurts: "Listeners hear pauses in the middle of speech.",
      seen: {
        kind: "share",
        part: { metric: "speech_underruns_total" },
        whole: [{ metric: "speech_streams_total" }],
        by: [],
        above: 0.02
      },
      after: "10m",
      causedBy: ["StarlingEventLoopLate", "SpeechTakeovers"],
      commands: ["./starling top"],
      runbook: {
        means: "Players run out of audio in the middle of playback.",
        lookAt:
          "`./starling top`: the load of each role. The console's `GET /speech`: which process it is. `speech_engine_real_time_factor`, StarlingEventLoopLate, the encoders in use by each pod.",
        act: "Add synthesizers or speech-api pods, or allow fewer streams for each (`SpeechApi.StreamsMax`)."
      }
    },
    {
      name: "SpeechSequencersBusy",
      severity: "warning",
      title: "Sequencers are full and refuse {value:percent} of the sessions.",
      hurts: "Some callers of speech get 429 or 503 and have to retry.",
      seen: {
        kind: "share",
        part: { metric: "speech_sessions_total", where: { outcome: "busy" } },
        whole: [{ metric: "speech_sessions_total" }],
        by: [],
        above: 0.05
      },
      after: "5m",
      causedBy: ["StarlingEventLoopLate", "StarlingPodDown"],
      commands: ["./starling top"],
      runbook: {
        means: "Sequencers have reached their limit of sessions, or as many as they can serve in time.",
        lookAt:
          "`./starling top`: the sessions. `speech_sessions_refused_total` by reason. `sessions`: `SpeechSequencer.SessionsMax`. `beginnings` and `listeners`: the synthesizers are slower than the listeners. `stalled`: StarlingEventLoopLate. `draining`: a release.",
        act: "For `sessions` and `stalled`, add sequencers. For `beginnings` and `listeners`, add synthesizers."
      }
    },
    {
      name: "SpeechRefusals",
      severity: "warning",
      title: "{value:percent} of the callers were refused: there is more to speak than the fleet can.",
      hurts: "Some callers of speech get 429 or 503 and have to retry. Admitted ones hear no gap.",
      seen: {
        kind: "share",
        part: { metric: "speech_refusals_total" },
        whole: [{ metric: "speech_refusals_total" }, { metric: "speech_streams_total" }],
        by: [],
        above: 0.05
      },
      after: "10m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingPodDown",
        "StarlingEventLoopLate",
        "SpeechSequencersBusy"
      ],
      commands: ["./starling top"],
      runbook: {
        means:
          "The fleet is asked for more speech than it can produce in time. Admitted calls play without a gap; the others get 429 or 503 with `Retry-After` within a second, and are not charged.",
        lookAt:
          "`./starling top`: what waits. `speech_refusals_total` by reason, and `speech_begin_seconds`, which is some tenths of a second on an idle machine. `beginnings`: more calls come at once than can begin within `SpeechApi.FirstSoundSecondsMax`. `listeners`: present listeners have less than two seconds buffered, or would have before the end of what they listen to. `stalled`: StarlingEventLoopLate. `sequencers`, `unavailable`: their conditions. `encoders`: `Audio.EncodersMax`. `encoder_start`: something else uses the CPU.",
        act: 'Add pods of the scarce role: speech-api for encoders, synthesizers when `speech_stage_seconds{stage="first_pcm"}` has grown. Move other heavy work off their nodes.'
      }
    },
    {
      name: "SpeechTakeovers",
      severity: "warning",
      title: "{value} sessions lost their sequencer and were taken over.",
      hurts: "Listeners may hear a pause.",
      seen: { kind: "rise", series: { metric: "speech_takeovers_total" }, by: [], within: "15m", above: 20 },
      after: "0m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingPodDown", "StarlingEventLoopLate"],
      commands: ["./starling doctor"],
      runbook: {
        means:
          "Sequencers stop answering in the middle of sessions. Others continue from the same sample; listeners may hear a pause.",
        lookAt: "`./starling doctor`: whether each sequencer is ready. Restarts, evictions, and nodes that go away.",
        act: "Fix what kills them, or give them more memory."
      }
    },
    {
      name: "SpeechEngineThreadsDying",
      severity: "warning",
      title: "{value} threads of {engine} crashed or hung.",
      hurts: "Speech of {engine} is late or breaks off.",
      seen: {
        kind: "rise",
        series: { metric: "speech_engine_threads_replaced_total" },
        by: ["engine"],
        within: "15m",
        above: 5
      },
      after: "0m",
      causedBy: [],
      commands: ['./starling say "Hello there." -o hello.mp3'],
      runbook: {
        means: "Threads of an engine crash or hang, and are replaced.",
        lookAt:
          '`./starling say "Hello there." -o hello.mp3`: whether the engine speaks. The synthesizer\'s log for the input. A crash costs one chunk, which is requested again.',
        act: "If one input always crashes it, refuse that input at the edge and fix the engine's input checks."
      }
    },
    {
      name: "SpeechEncodersFailing",
      severity: "warning",
      title: "{value} answers got no {encoder} encoder: {reason}.",
      hurts: "Speech as {encoder} is refused or breaks off.",
      seen: {
        kind: "rise",
        series: { metric: "audio_encoder_failures_total" },
        by: ["encoder", "reason"],
        within: "15m",
        above: 5
      },
      after: "0m",
      causedBy: ["StarlingEventLoopLate"],
      commands: ['./starling say "Hello there." -o hello.mp3'],
      runbook: {
        means: "Answers get no encoder: it is missing or broken, or too many run at once.",
        lookAt:
          '`./starling say "Hello there." -o hello.mp3`: the refusal has the reason. `overloaded`: `Audio.EncodersMax`. `starting`: something else uses the CPU.',
        act: "For `missing`, use the speech image. For `overloaded` and `starting`, add pods."
      }
    },
    {
      name: "SpeechConsentsUnverifiable",
      severity: "warning",
      title: "{value} consents could not be verified: the recogniser or the speaker check does not run.",
      hurts: "No voice can be cloned.",
      seen: {
        kind: "rise",
        series: { metric: "speech_consent_checks_total", where: { outcome: "unavailable" } },
        by: [],
        within: "15m",
        above: 0
      },
      after: "0m",
      causedBy: [],
      commands: ["./starling consents list"],
      runbook: {
        means: "Consents cannot be verified, so no voices are created.",
        lookAt:
          "`./starling consents list`: how strong the latest proofs were. Whether pocketsphinx and its model are in the image; the log.",
        act: "Use the speech image, or name the recogniser in `VoiceCloning`."
      }
    }
  ]
}
