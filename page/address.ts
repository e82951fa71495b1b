/** Where the page stands: a path after the `#`, and what it filters by after a `?`. Every view has an address so. */
import { useCallback, useMemo, useSyncExternalStore } from "react"

interface NavigateOptions {
  /** The step before cannot be gone back to. */
  readonly replace?: boolean
}

export const navigate = (to: string, { replace = false }: NavigateOptions = {}) => {
  if (replace) history.replaceState(null, "", `#${to}`)
  else history.pushState(null, "", `#${to}`)
  dispatchEvent(new HashChangeEvent("hashchange"))
}

const subscribe = (listener: () => void) => {
  addEventListener("hashchange", listener)
  return () => removeEventListener("hashchange", listener)
}

const here = (): readonly [path: string, query: string] => {
  const [path = "", query = ""] = location.hash.replace(/^#?\/?/u, "").split("?", 2)
  return [`/${path}`, query]
}
const pathHere = () => here()[0]
const queryHere = () => here()[1]

/** For the router. */
export const useAddress = (): [string, typeof navigate] => [useSyncExternalStore(subscribe, pathHere), navigate]
useAddress.hrefs = (path: string) => `#${path}`

/** The path as the address has it, undecoded. */
export const usePath = (): string => useSyncExternalStore(subscribe, pathHere)

/** An address with a query; values that are empty are left out. */
export const addressWith = (path: string, filters: Readonly<Record<string, string>>): string => {
  const given = Object.entries(filters).filter(([, value]) => value !== "")
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

export interface Filters<Name extends string> {
  readonly values: Readonly<Record<Name, string>>
  /** Changes some of them, and keeps the path. */
  readonly set: (changed: Readonly<Partial<Record<Name, string>>>) => void
  /** The link to another path of the screen, which keeps them. */
  readonly linkTo: (path: string) => string
}

/** What a screen filters by, as its address says it. */
export const useFilters = <const Name extends string>(names: ReadonlyArray<Name>): Filters<Name> => {
  const query = useSyncExternalStore(subscribe, queryHere)
  const key = names.join()
  const values = useMemo(() => {
    const given = new URLSearchParams(query)
    return Object.fromEntries(key.split(",").map((name) => [name, given.get(name) ?? ""])) as Record<Name, string>
  }, [query, key])
  const set = useCallback(
    (changed: Readonly<Partial<Record<Name, string>>>) => {
      const wanted: Readonly<Record<string, string>> = { ...values, ...changed }
      navigate(addressWith(pathHere(), wanted), { replace: true })
    },
    [values]
  )
  const linkTo = useCallback((path: string) => `#${addressWith(path, values)}`, [values])
  return { values, set, linkTo }
}
