/**
 * The only way of a command's text to the terminal. What others wrote, a receiver's answer as well as a name, has an
 * escape in place of every character that a terminal would obey; JSON stays the same JSON.
 */
import { printable } from "#base/printable"

export const writeOut = (text: string): void => void process.stdout.write(printable(text))

/** A row of CSV, with the line end that its standard (RFC 4180) wants. */
export const writeRow = (row: string): void => void process.stdout.write(`${printable(row)}\r\n`)

/** On standard error, so that a program that reads the output sees none of this. */
export const writeError = (text: string): void => void process.stderr.write(printable(text))
