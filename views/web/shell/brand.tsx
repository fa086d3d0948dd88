import { BASE } from '../ui/base.ts'

export const Brand = () => (
  <>
    <img src={`${BASE}assets/icon.svg`} width="22" height="22" alt="" />
    <span>Sluice</span>
  </>
)
