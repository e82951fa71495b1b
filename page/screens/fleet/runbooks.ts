/** The runbooks of docs/operations.md. `dev/page/build.ts` puts their text here. */
export const runbooksText: string = ""
