/** What the host must have installed, by the names of Debian. */
export const espeakPackages = "libespeak-ng1 and espeak-ng-data"
