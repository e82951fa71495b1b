/**
 * Reads a multipart form while it arrives, no faster than the disk takes it: of a file no more than a chunk
 * is in memory. Every limit acts as its byte comes in. What is wrong with the shape of parts is told all at
 * once; a part that is too large, or a body that is no form, at once. Files go with the call's scope.
 */
import { Effect, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { type Form, type FormSpec, partsMaxDefault } from "./form-spec.ts"
import type { FormFiles } from "./FormFiles.ts"
import { beginPart, endPart, type FormIntake, formIntake, formOf, takeBytes } from "./form-intake.ts"
import type { PerCall } from "./HttpCall.ts"
import { type MultipartReader, multipartReader, type PartEvent, partHeaderBytesMax } from "./multipart-reader.ts"
import { requireMediaType, requireUnpacked } from "./read-body.ts"
import { badRequest, formTooLarge, payloadTooLarge, serviceUnavailable } from "./wire-errors.ts"
import type { WireError } from "./WireError.ts"

const mediaType = "multipart/form-data"

/**
 * Fails with 415 for another media type, 413 for what is too large (`details.part` names the part), 400 for
 * what is no form, and 400 `validation_failed` for parts given twice, of the wrong kind, or not UTF-8. Parts
 * that the spec does not name are read past. What is missing is for the caller to say.
 */
export const readForm = (spec: FormSpec): Effect.Effect<Form, WireError, PerCall | FormFiles> =>
  Effect.catchTag(read(spec), "CannotKeepFiles", (error) =>
    Effect.andThen(
      Effect.logError("files of a form cannot be kept", error),
      Effect.fail(serviceUnavailable(5, "files cannot be taken just now"))
    )
  )

const read = Effect.fn("readForm")(function* (spec: FormSpec) {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* requireMediaType(mediaType)
  yield* requireUnpacked(spec.bytesMax)
  const partsMax = spec.partsMax ?? partsMaxDefault
  const reader = multipartReader(request.headers["content-type"] ?? "", partsMax)
  if (reader === undefined) return yield* badRequest("the Content-Type has no usable boundary")
  const intake = formIntake(spec)
  const reading: Reading = { reader, intake, bytes: 0, isClosed: false }
  const body = Stream.mapError(request.stream, () => badRequest("the body broke off"))
  yield* Stream.runForEach(body, (chunk) => takeChunk(reading, chunk))
  if (!reading.isClosed) return yield* badRequest("the body broke off before its last boundary")
  return yield* formOf(intake)
})

interface Reading {
  readonly reader: MultipartReader
  readonly intake: FormIntake
  bytes: number
  isClosed: boolean
}

const takeChunk = Effect.fnUntraced(function* (reading: Reading, chunk: Uint8Array) {
  const { reader, intake } = reading
  const { bytesMax, partsMax = partsMaxDefault } = intake.spec
  reading.bytes += chunk.length
  if (reading.bytes > bytesMax) return yield* payloadTooLarge(bytesMax)
  for (const event of reader.read(chunk)) {
    if (event._tag === "Closed") reading.isClosed = true
    yield* follow(event, intake, partsMax)
  }
})

const follow = (event: PartEvent, intake: FormIntake, partsMax: number) => {
  switch (event._tag) {
    case "Began":
      return beginPart(intake, event.head)
    case "Bytes":
      return takeBytes(intake, event.bytes)
    case "Ended":
      return endPart(intake)
    case "Closed":
      return Effect.void
    case "Malformed":
      return Effect.fail(badRequest(`the body is not a form: ${event.reason}`))
    case "TooManyParts":
      return Effect.fail(formTooLarge(`the form has more than ${partsMax} parts`, { parts_max: partsMax }))
    case "HeadTooLarge":
      return Effect.fail(
        formTooLarge(`the headers of a part are larger than ${partHeaderBytesMax} bytes`, {
          part_header_bytes_max: partHeaderBytesMax
        })
      )
  }
}
