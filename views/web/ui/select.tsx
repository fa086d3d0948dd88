interface SelectProps {
  /** The accessible name. */
  readonly label: string
  readonly options: readonly (readonly [value: string, name: string])[]
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A choice of many values. */
export const Select = ({ label, options, value, onChange }: SelectProps) => (
  <select
    class="input"
    aria-label={label}
    value={value}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
  >
    {options.map(([each, name]) => (
      <option key={each} value={each}>
        {name}
      </option>
    ))}
  </select>
)
