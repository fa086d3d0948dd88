/** Streams through a gate. */
export const Brand = () => (
  <>
    <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <g stroke="#fff" stroke-width="2.6" stroke-linecap="round" fill="none">
        <path d="M7 11h5M7 16h3M7 21h5M20 11h5M22 16h3M20 21h5" />
        <path d="M16 6v20" stroke-opacity=".6" />
      </g>
    </svg>
    <span>Sluice</span>
  </>
)
