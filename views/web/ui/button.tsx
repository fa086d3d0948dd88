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

interface ButtonProps extends ButtonHTMLAttributes {
  /** Its text, unless it has children. */
  readonly label?: string
  readonly class?: string
}

/** A button that submits no form. */
export const Button = ({ label, class: look = '', children = label, ...others }: ButtonProps) => (
  <button type="button" class={`button ${look}`} {...others}>
    {children}
  </button>
)

interface IconButtonProps extends ButtonProps {
  readonly icon: IconName
  /** The accessible name; shown on hover unless a `title` is given. */
  readonly label: string
}

/** A button without a text. */
export const IconButton = ({ icon, label, class: look = 'quiet small', ...others }: IconButtonProps) => (
  <Button class={`icon ${look}`} aria-label={label} title={label} {...others}>
    <Icon name={icon} />
  </Button>
)
