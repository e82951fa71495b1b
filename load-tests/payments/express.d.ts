/** The little of express that the reference servers use; the package brings no types of its own. */
declare module "express" {
  import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http"

  export interface Request extends IncomingMessage {
    readonly body: Readonly<Record<string, unknown>>
  }
  export interface Response extends ServerResponse {
    readonly status: (code: number) => Response
    readonly json: (body: unknown) => Response
  }
  export type NextFunction = (error?: unknown) => void
  type Handler = (request: Request, response: Response, next: NextFunction) => unknown
  interface Application extends RequestListener {
    readonly use: (handler: Handler) => void
    readonly get: (path: string, handler: Handler) => void
    readonly post: (path: string, handler: Handler) => void
    readonly listen: (port: number, host: string, then: () => void) => Server
  }
  const express: (() => Application) & { readonly json: () => Handler }
  export default express
}
