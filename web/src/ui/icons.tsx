// Line icons on a grid of 24, in the colour of the text.
import type { ComponentChildren } from 'preact';

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.7"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

export const Mark = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="var(--accent)" />
    <path
      d="M7 9v11a3 3 0 0 0 3 3h12a3 3 0 0 0 3-3V9"
      fill="none"
      stroke="var(--accent-ink)"
      stroke-width="2.6"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
    <rect x="11.5" y="11.5" width="9" height="7" rx="1.6" fill="var(--accent-ink)" />
  </svg>
);

export const ClusterIcon = () => (
  <Icon>
    <rect x="4" y="4" width="6.5" height="6.5" rx="1.5" />
    <rect x="13.5" y="4" width="6.5" height="6.5" rx="1.5" />
    <rect x="4" y="13.5" width="6.5" height="6.5" rx="1.5" />
    <rect x="13.5" y="13.5" width="6.5" height="6.5" rx="1.5" />
  </Icon>
);

export const PendingIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="8" />
    <path d="M12 7.5V12l3 2" />
  </Icon>
);

export const DecisionIcon = () => (
  <Icon>
    <path d="M4 5h16l-6 7.5V19l-4-2v-4.5z" />
  </Icon>
);

export const QueueIcon = () => (
  <Icon>
    <path d="M3 13h4l3-8 4 14 3-6h4" />
  </Icon>
);

export const GroupIcon = () => (
  <Icon>
    <rect x="3.5" y="3.5" width="17" height="17" rx="3" stroke-dasharray="3.2 2.6" />
    <circle cx="9" cy="9" r="1.9" />
    <circle cx="15" cy="9" r="1.9" />
    <circle cx="9" cy="15" r="1.9" />
    <circle cx="15" cy="15" r="1.9" />
  </Icon>
);

export const WhatIfIcon = () => (
  <Icon>
    <path d="M5 20V4M5 12h6a4 4 0 0 0 4-4V4M15 20v-4a4 4 0 0 0-4-4" />
    <path d="M12.5 6 15 3.5 17.5 6M12.5 18l2.5 2.5 2.5-2.5" />
  </Icon>
);

export const ShadowIcon = () => (
  <Icon>
    <circle cx="9" cy="12" r="5.5" />
    <path d="M13.5 7.2a5.5 5.5 0 1 1 0 9.6" />
  </Icon>
);

export const SunIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4" />
  </Icon>
);

export const MoonIcon = () => (
  <Icon>
    <path d="M19.5 14.5A8 8 0 1 1 9.5 4.5a6.5 6.5 0 0 0 10 10z" />
  </Icon>
);

export const CloseIcon = () => (
  <Icon>
    <path d="M6 6l12 12M18 6 6 18" />
  </Icon>
);

export const CheckIcon = () => (
  <Icon>
    <path d="M5 12.5 10 17.5 19 7" />
  </Icon>
);

export const KeyIcon = () => (
  <Icon>
    <circle cx="8.5" cy="15.5" r="4" />
    <path d="M11.5 12.5 20 4M16 8l3 3" />
  </Icon>
);

export const AlertIcon = () => (
  <Icon>
    <path d="M12 4 3.5 19h17z" />
    <path d="M12 10v4M12 16.8v.1" />
  </Icon>
);

export const PlanIcon = () => (
  <Icon>
    <path d="M4 6h7M4 12h7M4 18h7" />
    <path d="M14 9h6v6h-6zM17 3v3M17 18v3" />
  </Icon>
);
