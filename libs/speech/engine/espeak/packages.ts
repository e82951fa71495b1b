/** The packages that the host must have installed, by their Debian names. */
export const espeakPackages = "libespeak-ng1 and espeak-ng-data"
