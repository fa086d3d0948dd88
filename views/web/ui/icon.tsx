/** Outlines on a grid of 16, drawn in the colour of the text beside them. */
const PATHS = {
  check: 'M3 8.5l3.2 3.2L13 5',
  clock: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM8 4.8V8l2.2 1.6',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M6 6h7.2v7.2H6zM3.8 10H2.8V2.8H10v1',
  down: 'M4.5 6.5L8 10l3.5-3.5',
  right: 'M6.5 4.5L10 8l-3.5 3.5',
  left: 'M9.5 4.5L6 8l3.5 3.5',
  download: 'M8 2.5v7.5M5 7.5l3 3 3-3M3 13.2h10',
  flow: 'M2.5 4h5M5.5 8h6M8.5 12h5',
  keyboard: 'M1.8 4h12.4v8H1.8zM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5.5 9.8h5',
  minus: 'M3.5 8h9',
  plus: 'M8 3.5v9M3.5 8h9',
  up: 'M4.5 9.5L8 6l3.5 3.5',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5L14 14',
} as const

export type IconName = keyof typeof PATHS

/** Decoration beside a name; where it stands alone, its button carries the name. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg
    viewBox="0 0 16 16"
    width="14"
    height="14"
    fill="none"
    stroke="currentColor"
    stroke-width="1.5"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
)
