/** The runbooks of docs/runbooks.md. `dev/page/build.ts` puts their text here. */
export const runbooksText: string = ""
