import type { ReactNode } from "react"
import type { Pages } from "../api/pages.ts"
import { Button } from "./Button.tsx"
import { Fault, Loading } from "./Said.tsx"

interface PagerProps<Row> {
  readonly pages: Pages<Row>
  /** What is read, for who waits. */
  readonly what: string
  /** In place of no rows. */
  readonly empty: ReactNode
  readonly children: (rows: ReadonlyArray<Row>) => ReactNode
}

/** A list page by page: what came, what went wrong, and the way to older rows. */
export const Pager = <Row,>({ pages, what, empty, children }: PagerProps<Row>) => {
  const { rows, refused, isLoading, hasMore, more, reload } = pages
  return (
    <>
      {refused === undefined ? null : <Fault refused={refused} onAgain={reload} />}
      {rows === undefined && refused === undefined ? <Loading what={what} /> : null}
      {rows === undefined ? null : rows.length === 0 && !hasMore ? empty : children(rows)}
      {hasMore ? (
        <div className="pager">
          <Button disabled={isLoading} onClick={more}>
            {isLoading ? "Loading …" : "Older"}
          </Button>
          {rows?.length === 0 ? <span className="soft">No matches yet; there may be older ones.</span> : null}
        </div>
      ) : null}
    </>
  )
}
