/** Stands around a screen: one that could not be loaded or drawn says so, and the way to the others stays. */
import { Component, type ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Empty } from "./Said.tsx"

interface GuardState {
  readonly hasFailed: boolean
}

export class Guard extends Component<{ readonly children: ReactNode }, GuardState> {
  override state: GuardState = { hasFailed: false }

  static getDerivedStateFromError(): GuardState {
    return { hasFailed: true }
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <Empty title="This screen could not be loaded">
        <p>Part of it did not load, or it failed. Nothing was changed.</p>
        <Button kind="main" onClick={() => location.reload()}>
          Load the page again
        </Button>
      </Empty>
    )
  }
}
