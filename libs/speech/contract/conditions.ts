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
        means: "Answers break off or never begin, by our fault.",
        lookAt:
          "`./starling say \"Hello there.\" -o hello.mp3`: how one breaks off. `./starling doctor`: which process is not ready. `speech_takeovers_total`, the sequencers' and synthesizers' logs, the encoders' failures.",
        act: "Another alert names the failing part. After a release, roll back."
      }
    },
    {
      name: "SpeechSilent",
      severity: "critical",
      title: "No word comes back over SPEECH.",
      hurts: "Nobody hears new texts.",
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
          "A sequencer asks for a word every ten seconds, and gets no sound: no synthesizer takes it, or the stream SPEECH is gone. Texts that are stored already still sound.",
        lookAt: "`./starling doctor`: whether a synthesizer answers. `/readyz` of the sequencers, `speech`.",
        act: "Start a synthesizer. Where SPEECH is gone, `up` and the operator make it again; until then see [a lost stream](operations.md#a-lost-stream)."
      }
    },
    {
      name: "SpeechEngineSilent",
      severity: "critical",
      title: "The engine {subject} does not speak.",
      hurts: "Voices of {subject} are refused or fail; other engines' voices sound.",
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
        means: "A synthesizer has an engine speak a word every ten seconds, and it gave no sound.",
        lookAt: "`/readyz` of the synthesizers, `speech <engine>`: the engine's own words. Their log.",
        act: "Repair what the engine names: a file that is missing, a licence, memory. Restart the synthesizer where it hangs."
      }
    },
    {
      name: "SpeechFirstByteSlow",
      severity: "warning",
      title: "One listener in a hundred waits more than {value:duration} for the first sound.",
      hurts: "Listeners wait for the first sound.",
      seen: { kind: "p99", histogram: "speech_first_byte_seconds", by: [], within: "5m", above: 0.5 },
      after: "10m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingEventLoopLate", "SpeechRefusals"],
      commands: ["./starling top"],
      runbook: {
        means: "Listeners wait for the first sound.",
        lookAt:
          "`./starling top`: the latencies. `GET /speech` of the console, for which process it is. `speech_stage_seconds`: `wait` is a crowd, `admit` the sequencers, `first_pcm` the engines, `encode` ffmpeg.",
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
        means: "Players run out of audio while they play.",
        lookAt:
          "`./starling top`: the load of each role. `GET /speech` of the console, for which process it is. `speech_engine_real_time_factor`, StarlingEventLoopLate, encoders at work for each pod.",
        act: "Add synthesizers or speech-api pods; allow fewer streams for each (`SpeechApi.StreamsMax`)."
      }
    },
    {
      name: "SpeechSequencersBusy",
      severity: "warning",
      title: "Sequencers refuse {value:percent} of the sessions because they are full.",
      hurts: "Some callers of speech get 429 or 503 and try again.",
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
          "`./starling top`: the sessions. `speech_sessions_refused_total` by reason. `sessions`: `SpeechSequencer.SessionsMax`. `beginnings` and `listeners`: the",
        act: "For `sessions` and `stalled`, add sequencers. For `beginnings` and `listeners`, add synthesizers."
      }
    },
    {
      name: "SpeechRefusals",
      severity: "warning",
      title: "{value:percent} of the callers were refused: there is more to speak than capacity allows.",
      hurts: "Some callers of speech get 429 or 503 and try again; who is admitted hears no gap.",
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
          "The fleet has more to speak than it can speak in time. Admitted calls are heard without a gap; the others get 429 or",
        lookAt:
          "`./starling top`: what waits. `speech_refusals_total` by reason, and `speech_begin_seconds`, which is some tenths of a second on an idle machine.",
        act: "Add pods of the scarce role: speech-api for encoders, synthesizers when"
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
          "Sequencers stop answering in the middle of sessions. Others go on from the same sample; listeners may hear a pause.",
        lookAt: "`./starling doctor`: whether each sequencer is ready. Restarts, evictions and nodes going away.",
        act: "Remove the cause of their death; give them memory."
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
        act: "When one input always kills, refuse it at the edge and fix the engine's input checks."
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
          '`./starling say "Hello there." -o hello.mp3`: the refusal has the reason. The reason. `overloaded`: `Audio.EncodersMax`. `starting`: other users of the processors.',
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
        means: "Consents cannot be verified, and voices are not created.",
        lookAt:
          "`./starling consents list`: how strong the last proofs were. Whether pocketsphinx and its model are in the image; the log.",
        act: "Use the speech image; name the recogniser in `VoiceCloning`."
      }
    }
  ]
}
