# make quickstart   set everything up, then train a small agent and show that it got better
# make test         set everything up, then all checks and tests
# make check        the quick part of it, for every save
# make docs         write anew what is made from the code: lists of settings and files

PYTHON ?= python3
OUT ?= runs/quickstart
# empty it for a torch of your own choice: make install TORCH_CONSTRAINTS=
TORCH_CONSTRAINTS ?= -c constraints-cpu.txt
BIN = .venv/bin
STAMP = .venv/.installed

.PHONY: install quickstart test check docs FORCE

install: $(STAMP)

$(STAMP): pyproject.toml constraints-cpu.txt src/swefuse/__init__.py
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install $(TORCH_CONSTRAINTS) -e '.[train,data,web,dev]'
	@echo
	@echo "Installed into .venv with: torch $$($(BIN)/python -c 'from importlib.metadata import version; print(version("torch"))')"
	@echo "For a GPU, or another torch: remove .venv, then 'make install TORCH_CONSTRAINTS=' (README.md, Install)."
	@touch $@

# whoever names the constraints wants them applied, installed or not
ifneq ($(origin TORCH_CONSTRAINTS),file)
$(STAMP): FORCE
FORCE:
endif

quickstart: $(STAMP)
	$(BIN)/swefuse quickstart --out $(OUT)

test: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -m "not slow and not browser and not ray"

docs: $(STAMP)
	$(BIN)/python tests/pages.py
