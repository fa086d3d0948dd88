import type { ButtonHTMLAttributes } from 'preact'
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

interface IconButtonProps extends ButtonHTMLAttributes {
  readonly icon: IconName
  /** The accessible name; shown on hover unless a `title` is given. */
  readonly label: string
  readonly class?: string
}

/** A button without a text. */
export const IconButton = ({ icon, label, class: look = 'quiet small', ...others }: IconButtonProps) => (
  <button type="button" class={`button icon ${look}`} aria-label={label} title={label} {...others}>
    <Icon name={icon} />
  </button>
)
