interface ChipProps {
  readonly label: string
  /** Of a choice: whether it is in force. */
  readonly isOn: boolean
  readonly onClick: () => void
}

/** One of few values to filter by; a click chooses it, another click gives it up. */
export const Chip = ({ label, isOn, onClick }: ChipProps) => (
  <button type="button" className="chip" aria-pressed={isOn} onClick={onClick}>
    {label}
  </button>
)

/** A filter in force; a click removes it. */
export const ActiveChip = ({ label, onClick }: Omit<ChipProps, "isOn">) => (
  <button type="button" className="chip" aria-label={`Remove filter ${label}`} title={label} onClick={onClick}>
    <span className="chip-label">{label}</span> <span aria-hidden="true">✕</span>
  </button>
)
