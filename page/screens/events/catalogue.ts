/** The catalogue of events, read once for the whole page. */
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

export const useCatalogue = () => useResource("catalogue", catalogue)
