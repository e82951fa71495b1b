/** What the public APIs share. Tokens so far: who may call, for which workspace, with what scopes. */
export { type IssuedToken, TokenRecord, Tokens } from "./Tokens.ts"
