import type { ReactNode } from "react"
import { clipped } from "./Clip.tsx"
import { shown } from "./shown.ts"

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  /** Right-aligned, in figures of one width. */
  readonly isNumber?: boolean
  /** Left out on narrow screens; `first`: where there is half the room, too. */
  readonly isMinor?: boolean | "first"
}

interface TableProps<Row> {
  readonly label: string
  readonly rows: ReadonlyArray<Row>
  readonly columns: ReadonlyArray<Column<Row>>
  readonly keyOf: (row: Row) => string
  /** Where a row leads. Its first cell becomes the link, so that the keyboard finds it. */
  readonly linkOf?: (row: Row) => string
}

export const Table = <Row,>({ label, rows, columns, keyOf, linkOf }: TableProps<Row>) => (
  <div className="table-room" role="region" aria-label={label} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {columns.map(({ title, isNumber, isMinor }) => (
            <th key={title} scope="col" className={classesOf(isNumber, isMinor)}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, cell, isNumber, isMinor }, index) => (
              <td key={title} className={classesOf(isNumber, isMinor)}>
                {index === 0 && linkOf !== undefined ? (
                  <a className="row-link" href={linkOf(row)}>
                    {shown(cell(row))}
                  </a>
                ) : (
                  clipped(cell(row))
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const classesOf = (isNumber = false, isMinor: boolean | "first" = false) =>
  [isNumber ? "number" : "", isMinor === false ? "" : isMinor === true ? "minor" : "minor first"].join(" ").trim()
