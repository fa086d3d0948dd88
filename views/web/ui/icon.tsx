import icons from './icons.svg'

/** The symbols of icons.svg: outlines on a grid of 16, drawn in the colour of the text beside them. */
type IconName =
  | 'chart'
  | 'check'
  | 'clock'
  | 'close'
  | 'columns'
  | 'copy'
  | 'down'
  | 'download'
  | 'flow'
  | 'keyboard'
  | 'left'
  | 'minus'
  | 'plus'
  | 'right'
  | 'search'
  | 'up'

/** A decorative icon; without a text beside it, its button carries the name. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="outline" aria-hidden="true">
    <use href={`${icons}#${name}`} />
  </svg>
)
