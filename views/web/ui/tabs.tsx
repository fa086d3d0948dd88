import type { ComponentChildren } from 'preact'

interface Tab {
  readonly id: string
  readonly name: ComponentChildren
}

interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  /** The id of the selected tab. */
  readonly tab: string
  readonly onTab: (id: string) => void
  /** Content at the end of the tab row. */
  readonly end?: ComponentChildren
  /** The panel of the selected tab. */
  readonly children: ComponentChildren
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

/** Tabs with one panel; the arrow keys move between tabs. */
export function Tabs({ label, tabs, tab, onTab, end, children }: TabsProps) {
  const id = label.replaceAll(' ', '-')
  const move = (event: KeyboardEvent): void => {
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = tabs.at((tabs.findIndex((one) => one.id === tab) + step) % tabs.length)
    if (next === undefined) return
    onTab(next.id)
    document.getElementById(`${id}-${next.id}`)?.focus()
  }
  return (
    <>
      <div class="tabs">
        <div role="tablist" aria-label={label} onKeyDown={move}>
          {tabs.map((one) => (
            <button
              key={one.id}
              id={`${id}-${one.id}`}
              type="button"
              role="tab"
              aria-selected={one.id === tab}
              aria-controls={`${id}-panel`}
              tabIndex={one.id === tab ? 0 : -1}
              onClick={() => onTab(one.id)}
            >
              {one.name}
            </button>
          ))}
        </div>
        {end}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${tab}`}>
        {children}
      </div>
    </>
  )
}
