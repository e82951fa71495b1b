/** The page: who looks signs in, and then sees the screens, each loaded when it is opened. */
import { type ComponentType, lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from "react"
import { Link, Route, Router, Switch, useLocation } from "wouter"
import { navigate, useAddress } from "./address.ts"
import { onRefusal, Refused } from "./api/client.ts"
import { type Health, healthOf, useHealth, useHealthWatch } from "./api/health.ts"
import { type Session, session, signIn, signOut } from "./api/session.ts"
import { onceMore } from "./api/once-more.ts"
import { SignedInProvider } from "./api/signed-in.ts"
import { isCode, sessionEnded, signedOut, wordsOfRefusal } from "./arriving.ts"
import { Button } from "./design/Button.tsx"
import { Guard } from "./design/Guard.tsx"
import { Head } from "./design/Head.tsx"
import { Empty, Loading } from "./design/Said.tsx"
import { SignIn, takeCode } from "./SignIn.tsx"

const screen = (load: () => Promise<{ readonly default: ComponentType }>) => lazy(() => onceMore(load))

const screens = [
  { path: "/", title: "Home", Screen: screen(() => import("./screens/home/Home.tsx")) },
  { path: "/find", title: "Find", Screen: screen(() => import("./screens/find/Find.tsx")) },
  { path: "/events", title: "Events", Screen: screen(() => import("./screens/events/Events.tsx")) },
  { path: "/types", title: "Event types", Screen: screen(() => import("./screens/types/Types.tsx")) },
  { path: "/endpoints", title: "Endpoints", Screen: screen(() => import("./screens/endpoints/Endpoints.tsx")) },
  { path: "/deliveries", title: "Deliveries", Screen: screen(() => import("./screens/deliveries/Deliveries.tsx")) },
  { path: "/work-items", title: "Work items", Screen: screen(() => import("./screens/work-items/WorkItems.tsx")) },
  { path: "/models", title: "Models", Screen: screen(() => import("./screens/models/Models.tsx")) },
  { path: "/activity", title: "Activity", Screen: screen(() => import("./screens/activity/Activity.tsx")) },
  { path: "/speech", title: "Speech", Screen: screen(() => import("./screens/speech/Speech.tsx")) },
  { path: "/fleet", title: "Fleet", Screen: screen(() => import("./screens/fleet/Fleet.tsx")) },
  { path: "/settings", title: "Settings", Screen: screen(() => import("./screens/settings/Settings.tsx")) }
] as const

interface Here {
  /** Undefined until it is known, null for nobody. */
  readonly who: Session | null | undefined
  readonly said?: ReturnType<typeof wordsOfRefusal> | undefined
  /** Why it cannot be known now. */
  readonly refused?: Refused
}

export const App = () => {
  const [{ who, said, refused }, setHere] = useState<Here>({ who: undefined })
  const [code, setCode] = useState(takeCode)
  const [round, setRound] = useState(0)
  const again = useCallback(() => setRound((count) => count + 1), [])
  const hasSignedIn = useCallback((session: Session) => setHere({ who: session }), [])

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    arrival(code).then(
      (session) => setHere({ who: session }),
      (error: unknown) => {
        if (!(error instanceof Refused)) return setHere({ who: null })
        // What is away says nothing of who this is.
        if (healthOf(error.refusal.status) === "well") {
          return setHere({ who: null, said: wordsOfRefusal(error, code === undefined ? "token" : "code") })
        }
        setHere((before) => ({ ...before, refused: error }))
        timer = setTimeout(again, againAfterMs)
      }
    )
    return () => clearTimeout(timer)
  }, [code, round, again])

  // A link may be opened where the page is open already.
  useEffect(() => {
    const takeAnother = () => {
      const another = takeCode()
      if (another === undefined) return
      setCode(another)
      // Also of the link that was opened before.
      again()
    }
    addEventListener("hashchange", takeAnother)
    return () => removeEventListener("hashchange", takeAnother)
  }, [again])

  // A session that ended is over on every screen. Who has none yet is told why where they signed in.
  useEffect(
    () =>
      onRefusal(({ refusal: { status } }) => {
        if (status !== 401) return
        setHere((before) => (before.who == null ? before : { who: null, said: sessionEnded }))
      }),
    []
  )

  if (who === undefined && refused === undefined) return <Loading what="who you are" />
  if (who === null) return <SignIn onSignedIn={hasSignedIn} said={said} />
  if (who === undefined) {
    return (
      <Router hook={useAddress}>
        <Frame>
          <Waiting refused={refused} onAgain={again} />
        </Frame>
      </Router>
    )
  }
  const leave = () => void signOut().finally(() => setHere({ who: null, said: signedOut }))
  return (
    <SignedInProvider value={who}>
      <Router hook={useAddress}>
        <Shell label={who.label} onSignOut={leave} />
      </Router>
    </SignedInProvider>
  )
}

const againAfterMs = 1_500

const cutShort = new Refused({ status: 400, code: "not_a_code", message: "not a code", faults: {} })

/** Who this is: as the one-time code says, or as the browser knows already. */
const arrival = (code: string | undefined): Promise<Session | null> => {
  if (code === undefined) return session()
  if (!isCode(code)) return Promise.reject(cutShort)
  return signIn({ code }).catch(async (refused: unknown) => {
    // An answer that was lost on the way has used the code up, and left the session.
    const known = await session()
    if (known === null) throw refused
    return known
  })
}

interface ShellProps {
  readonly label: string
  readonly onSignOut: () => void
}

const Shell = (who: ShellProps) => {
  const here = useHere()
  useHealthWatch()
  useFindKey()
  return (
    <Frame who={who}>
      <Unreachable health={useHealth()} />
      <Guard key={here?.path}>
        <Suspense fallback={<Loading what="the screen" />}>
          <Switch>
            {screens.map(({ path, Screen }) => (
              <Route key={path} path={path === "/" ? path : `${path}/*?`}>
                <Screen />
              </Route>
            ))}
            <Route>
              <Empty title="Page not found">
                <Link href="/">Home</Link>
              </Empty>
            </Route>
          </Switch>
        </Suspense>
      </Guard>
    </Frame>
  )
}

/** `/` leads to the field that finds by any id, where nothing is being typed. */
const useFindKey = () =>
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyped = event.target instanceof Element && event.target.closest("input, textarea, select") !== null
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyped) return
      event.preventDefault()
      const field = document.querySelector<HTMLInputElement>("input[name=find]")
      if (field === null) navigate("/find")
      else field.focus()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])

const useHere = () => {
  const [location] = useLocation()
  return screens.findLast(({ path }) => location === path || (path !== "/" && location.startsWith(`${path}/`)))
}

interface FrameProps {
  /** Undefined while it cannot be known. */
  readonly who?: ShellProps
  readonly children: ReactNode
}

/** The way between the screens, and a place for one. */
const Frame = ({ who, children }: FrameProps) => {
  const here = useHere()
  useEffect(() => {
    document.title = here === undefined ? "Starling" : `${here.title} · Starling`
  }, [here])
  return (
    <div className="shell">
      <a
        className="skip"
        href="#room"
        onClick={(event) => {
          event.preventDefault()
          document.querySelector<HTMLElement>("#room")?.focus()
        }}
      >
        To the content
      </a>
      <Rail path={here?.path} who={who} />
      <main className="room" id="room" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}

interface WaitingProps {
  readonly refused: Refused | undefined
  readonly onAgain: () => void
}

/** In a screen's place, before it is known who looks. */
const Waiting = ({ refused, onAgain }: WaitingProps) => (
  <>
    <Unreachable health={healthOf(refused?.refusal.status ?? 0)} />
    <Head title={useHere()?.title ?? "Starling"} />
    <Empty title="Not loaded yet">
      <p>Your sign-in could not be checked either. The page retries automatically.</p>
      <Button onClick={onAgain}>Try again</Button>
    </Empty>
  </>
)

interface RailProps {
  readonly path: string | undefined
  readonly who: ShellProps | undefined
}

// The files of the page are named by their content; its head knows the icon's name.
const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href

/** The way between the screens; on a narrow screen it opens from a button. */
const Rail = ({ path: here, who }: RailProps) => {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(false), [here])
  return (
    <header className={`rail ${isOpen ? "open" : ""}`}>
      <p className="rail-name">
        <img src={icon} alt="" width="22" height="22" />
        Starling
      </p>
      <Button kind="plain" className="rail-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Menu
      </Button>
      <div className="rail-inner">
        <nav aria-label="Screens">
          {screens.map(({ path, title }) => (
            <Link
              key={path}
              href={path}
              aria-keyshortcuts={path === "/find" ? "/" : undefined}
              aria-current={here === path ? "page" : undefined}
            >
              {title}
            </Link>
          ))}
        </nav>
        {who === undefined ? null : (
          <div className="rail-who">
            <p className="soft">{who.label}</p>
            <Button kind="bare" onClick={who.onSignOut}>
              Sign out
            </Button>
          </div>
        )}
      </div>
    </header>
  )
}

/** What is away, for as long as it is. */
const Unreachable = ({ health }: { readonly health: Health }) => {
  if (health === "well") return null
  return (
    <div className="banner" role="alert">
      {health === "console away"
        ? "The console does not answer. The fleet may still be running; this page reconnects automatically."
        : "The broker is unavailable: nothing can be read or sent. The fleet and this page resume where they left off."}
    </div>
  )
}
