/**
 * The head of a command, read by hand: by its schema it costs as much as the command itself. What is not plainly right
 * is left to the schema, which says what is wrong with it.
 */
import { Result } from "effect"
import { jsonCodec, type MessageCodec, parseJson } from "#bus"
import { CommandRequest } from "#contracts"

const bySchema = jsonCodec(CommandRequest)

// As the schema has them.
const commandIdCharactersMax = 128
const idCharactersMax = 256

const isText = (value: unknown, charactersMax: number): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= charactersMax

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const plain = (json: unknown): CommandRequest | undefined => {
  if (!isRecord(json)) return undefined
  const { commandId, id, command } = json
  return isText(commandId, commandIdCharactersMax) && isText(id, idCharactersMax) && isRecord(command)
    ? { commandId, id, command }
    : undefined
}

export const commandQuestion: MessageCodec<CommandRequest> = {
  encode: bySchema.encode,
  decode: (message) => {
    const json = parseJson(message.data)
    const request = Result.isSuccess(json) ? plain(json.success) : undefined
    return request === undefined ? bySchema.decode(message) : Result.succeed(request)
  }
}
