import { assert, describe, it } from "@effect/vitest"
import { headBytes, pictureType, recordingType } from "../../../../services/speech-api/voices/VoiceExam.ts"

const bytes = (text: string) => Buffer.from(text.padEnd(headBytes, "\u0000"), "latin1")

describe("an uploaded file", () => {
  it.each([
    ["\u0089PNG\r\n\u001A\n", "image/png"],
    ["\u00FF\u00D8\u00FF\u00E0", "image/jpeg"],
    ["RIFF\u0010\u0000\u0000\u0000WEBPVP8 ", "image/webp"],
    ["GIF89a", undefined],
    ["<svg xmlns=", undefined],
    ["<!DOCTYPE html>", undefined],
    ["RIFF\u0010\u0000\u0000\u0000WAVEfmt ", undefined],
    ["", undefined]
  ])("that begins with %j is the picture %s", (head, type) => {
    assert.strictEqual(pictureType(bytes(head)), type)
  })

  it.each([
    ["RIFF\u0010\u0000\u0000\u0000WAVEfmt ", "audio/wav"],
    ["ID3\u0004", "audio/mpeg"],
    ["\u00FF\u00FB\u0090", "audio/mpeg"],
    ["\u00FF\u00F3\u0090", "audio/mpeg"],
    ["\u00FF\u00F1P", "audio/aac"],
    ["\u00FF\u00F9P", "audio/aac"],
    ["OggS", "audio/ogg"],
    ["fLaC", "audio/flac"],
    ["\u0000\u0000\u0000 ftypM4A ", "audio/mp4"],
    ["\u001AE\u00DF\u00A3", "audio/webm"],
    ["<!DOCTYPE html>", "application/octet-stream"],
    ["", "application/octet-stream"]
  ])("that begins with %j is a recording of the type %s", (head, type) => {
    assert.strictEqual(recordingType(bytes(head)), type)
  })

  it("that ends before its signature is unknown", () => {
    for (const length of [0, 1, 2]) {
      assert.isUndefined(pictureType(Buffer.from("\u00FF\u00D8\u00FF", "latin1").subarray(0, length)))
      assert.notInclude(recordingType(Buffer.from("RIFF", "latin1").subarray(0, length)), "wav")
    }
  })
})
