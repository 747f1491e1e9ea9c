/** The logo: a gate with water running through. */
export function Brand({ size = 24 }: { size?: number }) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0f6f61" />
      <path d="M8 6v20M24 6v20" stroke="#fff" strokeWidth="2.5" strokeLinecap="round" />
      <path
        d="M8 12c2.7-2 5.3-2 8 0s5.3 2 8 0M8 17.5c2.7-2 5.3-2 8 0s5.3 2 8 0M8 23c2.7-2 5.3-2 8 0s5.3 2 8 0"
        fill="none"
        stroke="#a3d3c9"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
    </svg>
  )
}
