/** What of the speech API's fields is told elsewhere on its page. Pure. */
import { fieldTable, type JsonObject, type LongList } from "#http"

// A longer list has a section of its own.
const valuesMax = 8

const longList: LongList = (values) => {
  if (values.length <= valuesMax) return undefined
  return values.includes("tts-3.0") ? "[model](#models)" : "[format](#formats)"
}

export const speechFields = (schema: JsonObject) => fieldTable(schema, longList)
