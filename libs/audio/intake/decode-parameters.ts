/**
 * How ffmpeg is called on a file that may be anything. Only whole audio containers are opened: no playlist, no
 * list of files, no image sequence, no script of inputs, which would have it open what they name. Only audio
 * decoders run, one thread of each; the first audio stream alone is decoded. Pure.
 */
import { recordingHz } from "./recording.ts"

// As the demuxers call themselves.
const formats = "wav,w64,aiff,caf,mp3,aac,mov,mp4,ogg,matroska,webm,flac,amr,amrnb,amrwb"

const decoders = [
  "pcm_u8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_alaw,pcm_mulaw",
  "adpcm_ima_wav,adpcm_ms,adpcm_ima_qt,mp3,mp3float,aac,aac_fixed,alac,flac,vorbis,opus,libopus,amrnb,amrwb",
  "libopencore_amrnb,libopencore_amrwb"
].join(",")

const reading = [
  "-nostdin -hide_banner -loglevel info -nostats",
  `-threads 1 -protocol_whitelist file -format_whitelist ${formats} -codec_whitelist ${decoders}`,
  "-probesize 5000000 -analyzeduration 5000000 -max_streams 32"
]

const writing = [
  "-map 0:a:0 -vn -sn -dn -map_metadata -1 -filter_threads 1",
  `-ac 1 -ar ${recordingHz} -c:a pcm_s16le -f s16le pipe:1`
]

const words = (lines: ReadonlyArray<string>) => lines.join(" ").split(" ")

/** With the protocol before it a name is a name, whatever it begins with. */
export const decodeParameters = (path: string): ReadonlyArray<string> => [
  ...words(reading),
  "-i",
  `file:${path}`,
  ...words(writing)
]
