# Every target sets up the virtual environment it needs. PYTHON chooses the interpreter: make demo PYTHON=python3.10
PYTHON ?= python3
GUI ?=
ARM ?= sim

# A ROS 2 sourced in this shell would put its own libraries before those of the virtual environment.
RUN = env -u PYTHONPATH -u PYTHONHOME -u LD_LIBRARY_PATH -u AMENT_PREFIX_PATH -u COLCON_PREFIX_PATH -u CMAKE_PREFIX_PATH \
	-u ROS_DISTRO -u ROS_VERSION -u ROS_PYTHON_VERSION -u RMW_IMPLEMENTATION -u CYCLONEDDS_URI \
	-u FASTRTPS_DEFAULT_PROFILES_FILE -u FASTDDS_DEFAULT_PROFILES_FILE -u ROS_DISCOVERY_SERVER \
	-u _ROS_WHEELS_BOOTSTRAP_COMPLETE -u VIRTUAL_ENV

SOURCES := $(shell find ik_solver_ros launch urdf config scripts resource -type f -not -name '*.pyc' -not -name '*.so') setup.py setup.cfg pyproject.toml

.PHONY: demo test test-plain lint bench peers records nearest docs clean

demo: .venv/installed
	@$(RUN) .venv/bin/python -m ik_solver_ros demo --arm $(ARM) $(if $(GUI),--gui)

# Three workers on two cores: what computes fills the time in which nodes and servos are waited for.
test: .venv-test/installed
	@scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; export TEST_SCRATCH="$$scratch"; \
	$(RUN) .venv-test/bin/python -m pytest -n 3 --dist loadfile

# The mathematics of the solver on the plain files, though they are compiled
test-plain: .venv-test/installed
	@IK_PLAIN=1 $(RUN) .venv-test/bin/python -m pytest -n 2 test/kinematics test/solvers test/test_uncompiled.py

lint: .venv-test/installed
	@$(RUN) .venv-test/bin/ruff check .
	@$(RUN) .venv-test/bin/ruff format --check .
	@$(RUN) .venv-test/bin/mypy

# ONLY chooses: make bench ONLY="bars ablation"
bench: .venv-bench/installed
	@$(RUN) .venv-bench/bin/python -m benchmarks $(ONLY)

# Beside other people's inverse kinematics, in an environment of their own. ARMS chooses: make peers ARMS="so101 panda"
peers: .venv-peers/installed
	@$(RUN) .venv-peers/bin/python -m benchmarks.peers $(ARMS)

# What others have published, and ours beside it. ONLY chooses: make records ONLY="tracik xarm"; WRITE=1 puts the tables
# into docs/records.md. With XARM_DESCRIPTION, the folder of that name of a checkout of xarm_ros2, xarm minds collisions.
records: .venv-peers/installed
	@$(RUN) .venv-peers/bin/python -m benchmarks.records $(ONLY) $(if $(WRITE),--write)

# Goals out of reach, ours and others beside the best known: benchmarks/nearest/README.md
nearest: .venv-peers/installed
	@$(RUN) .venv-peers/bin/python -m benchmarks.nearest.rows $(if $(ARMS),--arms $(ARMS))

# build/site/index.html; warnings are errors
docs: .venv-docs/installed
	@$(RUN) .venv-docs/bin/python docs/generate.py
	@$(RUN) .venv-docs/bin/python -m mkdocs build --strict --quiet

clean:
	rm -rf .venv .venv-test .venv-bench .venv-peers .venv-docs build dist out *.egg-info
	find ik_solver_ros -name "*.so" -delete

.venv/installed: $(SOURCES)
	@$(call make-venv,.venv,demo)

.venv-test/installed: $(SOURCES)
	@$(call make-venv,.venv-test,test)

.venv-bench/installed: $(SOURCES)
	@$(call make-venv,.venv-bench,test$(comma)bench)

.venv-peers/installed: $(SOURCES)
	@$(call make-venv,.venv-peers,peers)

.venv-docs/installed: $(SOURCES)
	@$(call make-venv,.venv-docs,docs)

comma := ,

# $(1): the environment, $(2): the extra
define make-venv
test -x $(1)/bin/python || $(RUN) $(PYTHON) -m venv $(1) || { rm -rf $(1); \
	echo "No virtual environment could be made with $(PYTHON). On Debian and Ubuntu: sudo apt install python3-venv" >&2; exit 1; }; \
echo "Installing into $(1) (a minute or two the first time)"; \
$(RUN) $(1)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[$(2)]" && touch $@
endef
