/** The page: who looks signs in, and then sees the screens, each loaded when it is opened. */
import { type ComponentType, lazy, Suspense, useCallback, useEffect, useState } from "react"
import { Link, Route, Router, Switch, useLocation } from "wouter"
import { useAddress } from "./address.ts"
import { hearRefusals, Refused } from "./api/client.ts"
import { healthOf, useHealth, useHealthWatch } from "./api/health.ts"
import { type Session, session, signIn, signOut } from "./api/session.ts"
import { onceMore } from "./api/once-more.ts"
import { SignedInProvider } from "./api/signed-in.ts"
import { Button } from "./design/Button.tsx"
import { Guard } from "./design/Guard.tsx"
import { Empty, Fault, Loading } from "./design/Said.tsx"
import { SignIn, takeCode } from "./SignIn.tsx"

const screen = (load: () => Promise<{ readonly default: ComponentType }>) => lazy(() => onceMore(load))

const screens = [
  { path: "/", title: "Home", Screen: screen(() => import("./screens/home/Home.tsx")) },
  { path: "/events", title: "Events", Screen: screen(() => import("./screens/events/Events.tsx")) },
  { path: "/endpoints", title: "Endpoints", Screen: screen(() => import("./screens/endpoints/Endpoints.tsx")) },
  { path: "/deliveries", title: "Deliveries", Screen: screen(() => import("./screens/deliveries/Deliveries.tsx")) },
  { path: "/work-items", title: "Work items", Screen: screen(() => import("./screens/work-items/WorkItems.tsx")) },
  { path: "/models", title: "Models", Screen: screen(() => import("./screens/models/Models.tsx")) },
  { path: "/activity", title: "Activity", Screen: screen(() => import("./screens/activity/Activity.tsx")) },
  { path: "/speech", title: "Speech", Screen: screen(() => import("./screens/speech/Speech.tsx")) },
  { path: "/fleet", title: "Fleet", Screen: screen(() => import("./screens/fleet/Fleet.tsx")) },
  { path: "/settings", title: "Settings", Screen: screen(() => import("./screens/settings/Settings.tsx")) }
] as const

export const App = () => {
  const [who, setWho] = useState<Session | null>()
  const [refused, setRefused] = useState<Refused>()
  const [code] = useState(takeCode)
  const [round, setRound] = useState(0)
  const again = useCallback(() => setRound((count) => count + 1), [])

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    arrival(code).then(setWho, (error: unknown) => {
      if (error instanceof Refused) setRefused(error)
      // What is away says nothing of who this is.
      if (error instanceof Refused && healthOf(error.refusal.status) !== "well") timer = setTimeout(again, againAfterMs)
      else setWho(null)
    })
    return () => clearTimeout(timer)
  }, [code, round, again])

  // A session that ended is over on every screen.
  useEffect(
    () =>
      hearRefusals(({ refusal: { status } }) => {
        if (status === 401) setWho(null)
      }),
    []
  )

  if (who === undefined && refused !== undefined) {
    return (
      <main className="sign-in">
        <Fault refused={refused} onAgain={again} />
      </main>
    )
  }
  if (who === undefined) return <Loading what="who you are" />
  if (who === null) return <SignIn onSignedIn={setWho} refused={refused} />
  return (
    <SignedInProvider value={who}>
      <Router hook={useAddress}>
        <Shell label={who.label} onSignOut={() => void signOut().finally(() => setWho(null))} />
      </Router>
    </SignedInProvider>
  )
}

const againAfterMs = 1_500

/** Who this is: as the one-time code says, or as the browser knows already. */
const arrival = (code: string | undefined): Promise<Session | null> => {
  if (code === undefined) return session()
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

const Shell = ({ label, onSignOut }: ShellProps) => {
  const [location] = useLocation()
  const here = screens.findLast(({ path }) => location === path || (path !== "/" && location.startsWith(`${path}/`)))
  useHealthWatch()
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
      <Rail path={here?.path} label={label} onSignOut={onSignOut} />
      <main className="room" id="room" tabIndex={-1}>
        <Away />
        <Guard key={here?.path}>
          <Suspense fallback={<Loading what="the screen" />}>
            <Switch>
              {screens.map(({ path, Screen }) => (
                <Route key={path} path={path === "/" ? path : `${path}/*?`}>
                  <Screen />
                </Route>
              ))}
              <Route>
                <Empty title="There is no such screen">
                  <Link href="/">Home</Link>
                </Empty>
              </Route>
            </Switch>
          </Suspense>
        </Guard>
      </main>
    </div>
  )
}

interface RailProps extends ShellProps {
  readonly path: string | undefined
}

// The files of the page are named by their content; its head knows the icon's name.
const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href

/** The way between the screens; on a narrow screen it opens from a button. */
const Rail = ({ path: here, label, onSignOut }: RailProps) => {
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
            <Link key={path} href={path} aria-current={here === path ? "page" : undefined}>
              {title}
            </Link>
          ))}
        </nav>
        <div className="rail-who">
          <p className="soft">{label}</p>
          <Button kind="bare" onClick={onSignOut}>
            Sign out
          </Button>
        </div>
      </div>
    </header>
  )
}

/** What is away, for as long as it is. */
const Away = () => {
  const health = useHealth()
  if (health === "well") return null
  return (
    <div className="banner" role="alert">
      {health === "console away"
        ? "The console does not answer. The fleet may go on without it; this page comes back by itself."
        : "The broker is away: nothing can be read or sent. The fleet goes on from where it was, and so does this page."}
    </div>
  )
}
