/** An event type as its documents and types are made from. */
export interface ExportedType {
  readonly event: string
  /** When it is published; empty when nobody said so. */
  readonly firedWhen: string
  readonly schemaVersion: string
  /** Of the whole envelope. */
  readonly schema: Readonly<Record<string, unknown>>
  /** Of the details alone; undefined: any object, or null. */
  readonly details: unknown
  readonly example: Readonly<Record<string, unknown>>
}

export interface ExportedFile {
  readonly path: string
  readonly content: string
}
