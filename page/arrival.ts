/**
 * Sees to it that the page arrives whole. A browser gives up what it is loading when the network changes: a laptop that
 * moves to another, a container that gets an address. A style sheet is then asked for again, and a lost script has the page
 * loaded again; the browser keeps the files that came, so a further try asks for less. This stands in the page itself, for
 * a file of its own would be lost with the others.
 */

// With twice the wait each time, eight seconds in all: a network that changes for longer is worth a person's look.
const triesMax = 5
const firstWaitMs = 250
const triesKey = "starling.tries"

let isLost = false

const waitMs = (tries: number) => firstWaitMs * 2 ** tries

/** How often this tab has loaded the page in vain. A browser that keeps nothing counts as one that tried enough. */
const triesSoFar = (): number => {
  try {
    return Number(sessionStorage.getItem(triesKey) ?? 0)
  } catch {
    return triesMax
  }
}

const loadAgain = () => {
  const tries = triesSoFar()
  if (tries >= triesMax) return offerAgain()
  sessionStorage.setItem(triesKey, String(tries + 1))
  // A page that cannot be reached is not given up for the browser's own words about that.
  setTimeout(() => fetch("/").then(() => location.reload(), loadAgain), waitMs(tries))
}

const offerAgain = () => {
  const button = document.querySelector<HTMLButtonElement>("#again")
  if (button === null) return
  button.hidden = false
  button.addEventListener("click", () => {
    forget()
    location.reload()
  })
}

const forget = () => {
  try {
    sessionStorage.removeItem(triesKey)
  } catch {
    // It keeps nothing.
  }
}

const askAgain = (lost: HTMLLinkElement) => {
  const tries = Number(lost.dataset["tries"] ?? 0)
  if (tries >= triesMax) return
  setTimeout(() => {
    const again = lost.cloneNode() as HTMLLinkElement
    again.dataset["tries"] = String(tries + 1)
    lost.replaceWith(again)
  }, waitMs(tries))
}

// The events of what did not load do not rise, so they are heard on their way down.
addEventListener(
  "error",
  ({ target }) => {
    if (target instanceof HTMLScriptElement && !isLost) {
      isLost = true
      loadAgain()
    }
    if (target instanceof HTMLLinkElement && target.rel === "stylesheet") askAgain(target)
  },
  true
)
addEventListener("load", () => {
  if (!isLost) forget()
})
