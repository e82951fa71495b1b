/** Where endpoints stand in the page. A name may be any text, so nothing but a name stands after `/endpoints/`. */

/** The form that adds one. */
export const addAddress = "/endpoints?form=add"

export const endpointAddress = (name: string) => `/endpoints/${encodeURIComponent(name)}`

/** The endpoint of a path as the address has it, undecoded: the router's own decoding knows no names with `%`. Pure. */
export const endpointAt = (path: string): string | undefined => {
  const [, written] = /^\/endpoints\/([^/]+)$/u.exec(path) ?? []
  if (written === undefined) return undefined
  try {
    return decodeURIComponent(written)
  } catch {
    // Typed by hand.
    return written
  }
}
