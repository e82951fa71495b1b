/** What the host must have installed, by the names of Debian. */
export const flitePackages = "libflite1"
