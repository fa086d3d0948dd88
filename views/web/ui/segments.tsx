interface SegmentsProps<Value extends string> {
  /** The accessible name of the control. */
  readonly label: string
  readonly options: readonly (readonly [value: Value, name: string])[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}

/** A choice of a few values. */
export const Segments = <Value extends string>({ label, options, value, onChange }: SegmentsProps<Value>) => (
  <fieldset class="segments" aria-label={label}>
    {options.map(([each, name]) => (
      <button key={each} type="button" aria-pressed={each === value} onClick={() => onChange(each)}>
        {name}
      </button>
    ))}
  </fieldset>
)
