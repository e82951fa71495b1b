/**
 * The only way for a command's text to the terminal. Text from others, whether a receiver's answer or a name, gets an
 * escape in place of every character that a terminal would obey; JSON stays the same JSON.
 */
import { printable } from "#base/printable"

export const writeOut = (text: string): void => void process.stdout.write(printable(text))

/** A row of CSV, with the line end required by its standard (RFC 4180). */
export const writeRow = (row: string): void => void process.stdout.write(`${printable(row)}\r\n`)

/** On standard error, so that a program that reads the output is not disturbed. */
export const writeError = (text: string): void => void process.stderr.write(printable(text))
