interface SelectProps {
  /** The accessible name. */
  readonly label: string
  readonly options: readonly (readonly [value: string, name: string])[]
  readonly value: string
  readonly class?: string
  readonly onChange: (value: string) => void
}

/** A choice of many values. */
export const Select = ({ label, options, value, class: look = '', onChange }: SelectProps) => (
  <select
    class={`input ${look}`}
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
