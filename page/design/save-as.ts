/** Puts bytes into a file of the browser's downloads. */
export const saveAs = (name: string, bytes: Blob) => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(bytes)
  link.download = name
  link.click()
  // The browser has taken hold of it once this task is over.
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000)
}
