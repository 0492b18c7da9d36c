"""The gate's checks, by what they ask about; those on coherence, evidence and claims lie beside this folder."""
