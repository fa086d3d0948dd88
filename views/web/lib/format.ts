export { countText, cut, plural, shortCount, visible } from '../../flow-layout/format.ts'
