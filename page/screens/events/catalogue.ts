/** The catalogue of events, read once for the whole page, and again after it was changed here. */
import { type Answer, get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"

type Catalogue = Answer<"GET", "/events/catalogue">
let asked: Promise<Catalogue> | undefined

const catalogue = (): Promise<Catalogue> => {
  asked ??= get("/events/catalogue").catch((error: unknown) => {
    asked = undefined
    throw error
  })
  return asked
}

/** After a change of it. */
export const forgetCatalogue = () => {
  asked = undefined
}

export const useCatalogue = () => useResource("catalogue", catalogue)
