/** A value once it has stood for a while; the first at once. */
import { useEffect, useState } from "react"

export const useSettled = <A>(value: A, forMs: number): A => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), forMs)
    return () => clearTimeout(timer)
  }, [value, forMs])
  return settled
}
